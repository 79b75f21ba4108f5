#include "doctor/hypotheses.h"

#include "config/pointer.h"
#include "doctor/evidence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct name_value doctor_family_names[] = {
    { "network", DOCTOR_NETWORK }, { "node", DOCTOR_INSIDE }, { "gpu", DOCTOR_GPU },
    { "waiting", DOCTOR_WAIT },    { "job", DOCTOR_JOB },     { NULL, 0 },
};

/* Which jobs can have it -------------------------------------------------------------- */

static bool over_nodes(const struct doctor_facts *f)
{
    return f->outside >= 0;
}

static bool over_rdma(const struct doctor_facts *f)
{
    return f->outside >= 0 && f->outside != FABRIC_TCP;
}

/* NCCL reads GPUs by itself over these alone, or does not (NCCL_NET_GDR_READ). */
static bool over_verbs(const struct doctor_facts *f)
{
    return over_rdma(f) && f->outside != FABRIC_EFA;
}

static bool has_tensor_groups(const struct doctor_facts *f)
{
    return f->outside >= 0 && f->tensor > 1;
}

static bool has_nvswitch(const struct doctor_facts *f)
{
    return f->inside == FABRIC_NVSWITCH && f->sm_arch >= 90;
}

static bool has_nvlink(const struct doctor_facts *f)
{
    return f->gpus_per_node > 1 &&
           (f->inside == FABRIC_NVSWITCH || f->inside == FABRIC_NVLINK);
}

static bool has_fused_attention(const struct doctor_facts *f)
{
    return f->attention != OP_ATTENTION_UNFUSED;
}

static bool has_low_precision(const struct doctor_facts *f)
{
    return f->precision != OP_FP32;
}

static bool keeps_activations(const struct doctor_facts *f)
{
    return f->checkpointing != CHECKPOINT_FULL;
}

static bool recomputes(const struct doctor_facts *f)
{
    return f->checkpointing != CHECKPOINT_NONE;
}

static bool has_stages(const struct doctor_facts *f)
{
    return f->pipeline > 1;
}

static bool has_several(const struct doctor_facts *f)
{
    return f->micro_batch > 1;
}

/* Changes that depend on the job ------------------------------------------------------ */

static void put(json_t *tree, const char *pointer, json_t *value)
{
    struct err unused = { 0 };
    pointer_set(tree, pointer, value, &unused);
}

/* Microbatches of another size, of the same global batch. */
static void change_micro(json_t *tree, const struct doctor_facts *f, double strength)
{
    put(tree, "/training/micro_batch_size",
        json_integer((json_int_t)((double)f->micro_batch * strength)));
    put(tree, "/training/global_batch_size", json_integer(f->global_batch));
    put(tree, "/training/microbatches", json_null());
    put(tree, "/training/gradient_accumulation_steps", json_null());
}

static void change_batch(json_t *tree, const struct doctor_facts *f, double strength)
{
    put(tree, "/training/micro_batch_size", json_integer(f->micro_batch));
    put(tree, "/training/global_batch_size",
        json_integer((json_int_t)((double)f->global_batch * strength)));
    put(tree, "/training/microbatches", json_null());
    put(tree, "/training/gradient_accumulation_steps", json_null());
}

/* Through host memory: EFA as fitted, others at half of their rate (NVIDIA/nccl 465:
 * 6 GB/s of 12 on 100 Gb/s InfiniBand). */
static void change_gpudirect(json_t *tree, const struct doctor_facts *f,
                             double strength)
{
    (void)strength;
    if (f->outside == FABRIC_EFA)
        put(tree, "/cluster/fabric", json_string("efa-2024-nogdr"));
    else
        put(tree, "/cluster/network_bandwidth", json_string("x0.5"));
}

/* As NICs of management are, or an overlay of containers: so many Gb/s. */
static void change_ethernet(json_t *tree, const struct doctor_facts *f, double strength)
{
    char factor[32];
    double Bps = strength * 1e9 / 8;
    put(tree, "/cluster/fabric", json_string("ena-tcp-25g"));
    if (Bps >= f->network_Bps)
        return;
    snprintf(factor, sizeof(factor), "x%.9f", Bps / f->network_Bps);
    put(tree, "/cluster/network_bandwidth", json_string(factor));
}

/* What a variable holds NCCL to, by strength: what is likely in logs of threads. */
static void change_protocol(json_t *tree, const struct doctor_facts *f, double strength)
{
    (void)f;
    put(tree, "/software/environment/NCCL_PROTO",
        json_string(strength < 2 ? "LL" : "Simple"));
}

static void change_algorithm(json_t *tree, const struct doctor_facts *f,
                             double strength)
{
    (void)f;
    put(tree, "/software/environment/NCCL_ALGO",
        json_string(strength < 2 ? "Ring" : "Tree"));
}

static void change_length(json_t *tree, const struct doctor_facts *f, double strength)
{
    put(tree, "/training/sequence_length",
        json_integer((json_int_t)((double)f->sequence * strength)));
}

/* The rows ----------------------------------------------------------------------------- */

/* Priors are judgements: what closed threads of NCCL, aws-ofi-nccl, Megatron-LM and
 * DeepSpeed named as causes, most often first. They sum to less than 1: the rest is that
 * the run is as described (explain.h). */
/* clang-format off */
const struct hypothesis hypotheses[] = {
    { "tcp", "NCCL uses sockets in place of RDMA", DOCTOR_NETWORK, 0.035,
      DOCTOR_BY_SCENARIO, { 0 }, over_rdma, { { "/cluster/fabric", "\"ena-tcp-25g\"" } }, NULL, evidence_tcp,
      "NCCL_DEBUG=INFO: \"via NET/Socket\". Install the network plugin (aws-ofi-nccl), open the security group to itself, pass the devices into the container" },
    { "tcp-one-nic", "NCCL uses sockets over one NIC of Ethernet", DOCTOR_NETWORK, 0.015,
      DOCTOR_BY_RATE, { 25, 10, 5, 3.5, 2.5, 1 }, over_rdma, { { NULL } }, change_ethernet, evidence_tcp,
      "NCCL_DEBUG=INFO: \"via NET/Socket\". Install the network plugin, pass the devices into the container; NCCL_IB_DISABLE=0; NCCL_SOCKET_IFNAME names the fastest NICs" },
    { "no-gpudirect", "GPUDirect RDMA is off: transfers go through host memory", DOCTOR_NETWORK, 0.028,
      DOCTOR_BY_SCENARIO, { 0 }, over_rdma, { { NULL } }, change_gpudirect, evidence_no_gpudirect,
      "NCCL_DEBUG=INFO: connections without \"GDRDMA\". FI_EFA_USE_DEVICE_RDMA=1 with old plugins; load the peer-memory or dma-buf driver" },
    { "gdr-read", "GPUDirect RDMA receives alone: what is sent goes through host memory", DOCTOR_NETWORK, 0.002,
      DOCTOR_BY_SCENARIO, { 0.66 }, over_verbs, { { "/cluster/network_bandwidth", "\"x%g\"" } }, NULL, evidence_gdr_read,
      "NCCL_DEBUG=INFO: [receive] with \"GDRDMA\", [send] without. NCCL_NET_GDR_READ=1 (0 is NCCL's default without NVLink)" },
    { "slow-network", "the network has fewer NICs than it should, or is shared", DOCTOR_NETWORK, 0.05,
      DOCTOR_BY_SCENARIO, { 0.75, 0.5, 0.25, 0.125, 0.0625 }, over_nodes, { { "/cluster/network_bandwidth", "\"x%g\"" } }, NULL, evidence_few_nics,
      "run all_reduce_perf of nccl-tests on these nodes; count the NICs that NCCL finds; check NCCL_IB_HCA and the placement group; PCIe ACS off, on virtual machines with ATS (lspci -vvv: SrcValid-)" },
    { "noisy-neighbours", "other jobs share the network, and steps differ", DOCTOR_NETWORK, 0.01,
      DOCTOR_BY_SCENARIO, { 0.75, 0.5, 0.25 }, over_nodes, { { "/cluster/network_bandwidth", "\"x%g\"" } }, NULL, evidence_noisy,
      "compare times of the day; run all_reduce_perf again and again: it varies. Nodes of one leaf switch, or a placement group" },
    { "placement", "tensor-parallel groups are spread over nodes", DOCTOR_NETWORK, 0.005,
      DOCTOR_BY_SCENARIO, { 0 }, has_tensor_groups, { { "/parallelism/placement", "\"spread\"" } }, NULL, NULL,
      "print the ranks of a tensor-parallel group and their hosts; check the order of hosts in the hostfile, and CUDA_VISIBLE_DEVICES" },
    { "pcie-width", "PCIe of a GPU or NIC runs with fewer lanes", DOCTOR_NETWORK, 0.005,
      DOCTOR_BY_SCENARIO, { 0.5, 0.25 }, over_nodes, { { "/cluster/network_bandwidth", "\"x%g\"" } }, NULL, evidence_pcie,
      "nvidia-smi --query-gpu=index,pcie.link.width.current,pcie.link.width.max --format=csv during steps; lspci -vv of the NICs. Reseat the card, or exchange the node" },
    { "few-channels", "a variable holds NCCL to few channels", DOCTOR_NETWORK, 0.005,
      DOCTOR_BY_SCENARIO, { 0.5, 0.25 }, over_nodes, { { "/cluster/network_bandwidth", "\"x%g\"" } }, NULL, evidence_few_channels,
      "unset NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS and NCCL_NTHREADS" },
    { "small-buffers", "a variable makes NCCL's buffers small", DOCTOR_NETWORK, 0.002,
      DOCTOR_BY_SCENARIO, { 0.75, 0.5 }, over_nodes, { { "/cluster/network_bandwidth", "\"x%g\"" } }, NULL, evidence_small_buffers,
      "unset NCCL_BUFFSIZE: 4 MiB is the default" },
    { "nccl-protocol", "a variable holds NCCL to one protocol", DOCTOR_NETWORK, 0.005,
      DOCTOR_BY_SCENARIO, { 1, 2 }, NULL, { { NULL } }, change_protocol, evidence_protocol,
      "unset NCCL_PROTO: LL moves half of what is sent, and Simple is slow for small messages" },
    { "nccl-algorithm", "a variable holds NCCL to one algorithm", DOCTOR_NETWORK, 0.002,
      DOCTOR_BY_SCENARIO, { 1, 2 }, NULL, { { NULL } }, change_algorithm, evidence_algorithm,
      "unset NCCL_ALGO: rings are slow over many nodes, and trees for large messages on few" },
    { "old-nccl", "NCCL is of before 2.12", DOCTOR_NETWORK, 0.005,
      DOCTOR_BY_SCENARIO, { 0 }, over_nodes, { { "/software/nccl", "\"2.10.3\"" } }, NULL, evidence_old_nccl,
      "NCCL_DEBUG=VERSION; a newer image, or PyTorch built with a newer NCCL" },
    { "nvls-off", "NVLink SHARP is off", DOCTOR_INSIDE, 0.02,
      DOCTOR_BY_SCENARIO, { 0 }, has_nvswitch, { { "/software/environment/NCCL_NVLS_ENABLE", "\"0\"" } }, NULL, evidence_no_nvls,
      "NCCL_DEBUG=INFO: \"NVLS multicast support\". Unset NCCL_NVLS_ENABLE, start the fabric manager" },
    { "no-nvlink", "GPUs of a node exchange data through the host in place of NVLink", DOCTOR_INSIDE, 0.02,
      DOCTOR_BY_SCENARIO, { 0 }, has_nvlink, { { "/cluster/inside", "\"pcie-gen4-host\"" } }, NULL, evidence_no_nvlink,
      "NCCL_DEBUG=INFO: \"via SHM\" between GPUs of a node; nvidia-smi topo -m. Unset NCCL_P2P_DISABLE, start the fabric manager" },
    { "uneven-stages", "another stage of the pipeline takes longer", DOCTOR_JOB, 0.01,
      DOCTOR_BY_OTHERS, { 1.1, 1.2, 1.35, 1.5 }, has_stages, { { NULL } }, NULL, evidence_uneven_stages,
      "compare forward and backward of the stages (timers of all ranks, or a trace of each stage); move layers between stages" },
    { "throttled", "all GPUs run at lower clocks: power or heat", DOCTOR_GPU, 0.04,
      DOCTOR_BY_COMPUTE, { 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3 }, NULL, { { NULL } }, NULL, evidence_throttled,
      "nvidia-smi --query-gpu=index,clocks.sm,clocks.max.sm,power.draw,clocks_throttle_reasons.active --format=csv -l 5 during steps" },
    { "slow-gpu", "one GPU or node is slower, and all others wait for it", DOCTOR_GPU, 0.05,
      DOCTOR_BY_OTHERS, { 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3 }, NULL, { { NULL } }, NULL, evidence_slow_gpu,
      "compare clocks of all GPUs (nvidia-smi), or run one product on each; exchange the node" },
    { "ecc", "a GPU repairs or repeats after errors of its memory, and all others wait for it", DOCTOR_GPU, 0.005,
      DOCTOR_BY_OTHERS, { 1.1, 1.2, 1.35, 1.5, 2, 3 }, NULL, { { NULL } }, NULL, evidence_ecc,
      "nvidia-smi -q -d ECC,ROW_REMAPPER; dmesg for Xid 48, 63, 64, 94 and 95. Reset the GPU, or exchange the node" },
    { "data-loader", "the step waits for data", DOCTOR_WAIT, 0.04,
      DOCTOR_BY_WAIT, { 0.1, 0.2, 0.4, 0.7, 1, 2, 4, 8, 16, 32 }, NULL, { { NULL } }, NULL, evidence_loader,
      "train with one batch over and over: if steps become faster, it is the data. More workers, prefetching, a faster file system" },
    { "storage", "the step waits for storage, some steps more than others", DOCTOR_WAIT, 0.01,
      DOCTOR_BY_WAIT, { 0.1, 0.2, 0.4, 0.7, 1, 2, 4 }, NULL, { { NULL } }, NULL, evidence_storage,
      "read the data set alone, as fast as it goes (dd, or the loader without a model); a local disk, FSx for Lustre, larger shards" },
    { "host-bound", "the GPU waits for the host: Python, launches, logging", DOCTOR_WAIT, 0.04,
      DOCTOR_BY_WAIT, { 0.1, 0.2, 0.4, 0.7, 1, 2, 4, 8, 16, 32 }, NULL, { { NULL } }, NULL, evidence_host,
      "take a trace with PyTorch's profiler: gaps between kernels. CUDA graphs, torch.compile, larger micro-batches; other work on the CPU (top)" },
    { "sync-points", "the host waits for the GPU again and again, and then the GPU for the host", DOCTOR_WAIT, 0.015,
      DOCTOR_BY_WAIT, { 0.1, 0.2, 0.4, 0.7, 1, 2, 4, 8, 16, 32 }, NULL, { { NULL } }, NULL, evidence_sync,
      "take a trace: cudaStreamSynchronize before gaps. Fewer calls of item(), cpu() and print(loss); torch.cuda.set_sync_debug_mode(1) names their lines" },
    { "host-optimizer", "the GPU waits for the host's part of the optimizer", DOCTOR_WAIT, 0.01,
      DOCTOR_BY_WAIT, { 0.1, 0.2, 0.4, 0.7, 1, 2, 4 }, NULL, { { NULL } }, NULL, evidence_host_optimizer,
      "take a trace: gaps in Optimizer.step. fused=True or foreach=True, or a fused optimizer of Apex or DeepSpeed" },
    { "allocator", "memory is nearly full: the allocator flushes its cache", DOCTOR_WAIT, 0.015,
      DOCTOR_BY_WAIT, { 0.1, 0.2, 0.4, 0.7, 1, 2 }, NULL, { { NULL } }, NULL, evidence_allocator,
      "torch.cuda.memory_stats()[\"num_alloc_retries\"] grows. A smaller micro-batch; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
    { "unfused-attention", "attention is not fused", DOCTOR_JOB, 0.04,
      DOCTOR_BY_SCENARIO, { 0 }, has_fused_attention, { { "/training/attention", "\"unfused\"" } }, NULL, evidence_unfused,
      "look for flash or fused attention in the first lines of the log, or in a trace; install flash-attn or Transformer Engine" },
    { "fp32", "products run in fp32", DOCTOR_JOB, 0.02,
      DOCTOR_BY_SCENARIO, { 0 }, has_low_precision, { { "/training/precision", "\"fp32\"" }, { "/training/attention", "\"memory-efficient\"" } }, NULL, evidence_fp32,
      "print the dtype of an activation; check the trainer's bf16 or fp16 option, and torch.backends.cuda.matmul.allow_tf32" },
    { "tf32", "products run in tf32", DOCTOR_JOB, 0.01,
      DOCTOR_BY_SCENARIO, { 0 }, has_low_precision, { { "/training/precision", "\"tf32\"" }, { "/training/attention", "\"memory-efficient\"" } }, NULL, evidence_tf32,
      "print the dtype of an activation; check the trainer's bf16 or fp16 option" },
    { "recomputation", "activations are recomputed in full", DOCTOR_JOB, 0.04,
      DOCTOR_BY_SCENARIO, { 0 }, keeps_activations, { { "/training/activation_checkpointing", "\"full\"" } }, NULL, NULL,
      "look for gradient_checkpointing, --recompute-granularity or activation_checkpoint in what the trainer prints" },
    { "no-recomputation", "activations are kept", DOCTOR_JOB, 0.02,
      DOCTOR_BY_SCENARIO, { 0 }, recomputes, { { "/training/activation_checkpointing", "\"none\"" } }, NULL, NULL,
      "look for gradient_checkpointing, --recompute-granularity or activation_checkpoint in what the trainer prints" },
    { "smaller-micro-batch", "micro-batches are smaller, and there are more of them", DOCTOR_JOB, 0.03,
      DOCTOR_BY_SCENARIO, { 0.5, 0.25 }, has_several, { { NULL } }, change_micro, NULL,
      "look for the micro-batch and the accumulation in what the trainer prints" },
    { "larger-micro-batch", "micro-batches are larger, and there are fewer of them", DOCTOR_JOB, 0.01,
      DOCTOR_BY_SCENARIO, { 2 }, NULL, { { NULL } }, change_micro, NULL,
      "look for the micro-batch and the accumulation in what the trainer prints" },
    { "other-batch", "the global batch is another", DOCTOR_JOB, 0.03,
      DOCTOR_BY_SCENARIO, { 0.25, 0.5, 2, 3, 4, 5, 8 }, NULL, { { NULL } }, change_batch, evidence_batch,
      "look for micro-batch x accumulation x data-parallel ranks in what the trainer prints" },
    { "padding", "sequences are padded: they are longer than described", DOCTOR_JOB, 0.01,
      DOCTOR_BY_SCENARIO, { 1.25, 1.5, 2, 3, 4 }, NULL, { { NULL } }, change_length, evidence_padding,
      "print the shape of a batch, and how many of its tokens are not padding; pack samples, or group them by length" },
    { "no-overlap", "gradients are reduced after backward, not during it", DOCTOR_JOB, 0.03,
      DOCTOR_BY_SCENARIO, { 0 }, over_nodes, { { "/parallelism/overlap", "false" } }, NULL, evidence_no_overlap,
      "look for --overlap-grad-reduce, overlap_comm or no_sync in the configuration" },
    { "small-buckets", "gradients are reduced in small buckets", DOCTOR_JOB, 0.01,
      DOCTOR_BY_SCENARIO, { 0 }, over_nodes, { { "/parallelism/bucket_size", "\"1MiB\"" } }, NULL, NULL,
      "look for bucket_cap_mb or reduce_bucket_size" },
    { "large-buckets", "gradients are reduced in buckets too large to overlap", DOCTOR_JOB, 0.005,
      DOCTOR_BY_SCENARIO, { 0 }, over_nodes, { { "/parallelism/bucket_size", "\"4GiB\"" } }, NULL, NULL,
      "look for bucket_cap_mb, reduce_bucket_size or --ddp-bucket-size" },
};
/* clang-format on */

const int32_t n_hypotheses = sizeof(hypotheses) / sizeof(hypotheses[0]);

/* One row ------------------------------------------------------------------------------ */

int32_t hypothesis_n_strengths(const struct hypothesis *h)
{
    int32_t n = 0;
    while (n < HYPOTHESIS_STRENGTHS && h->strengths[n] > 0)
        n++;
    return n ? n : 1;
}

bool hypothesis_is_simulated(const struct hypothesis *h)
{
    return h->how == DOCTOR_BY_SCENARIO || h->how == DOCTOR_BY_RATE;
}

double hypothesis_strength(const struct hypothesis *h, int32_t i)
{
    return h->strengths[i] > 0 ? h->strengths[i] : 1;
}

/* The value of a row, in which "%g" is the strength. */
static json_t *value_of(const char *text, double strength)
{
    char json[64];
    const char *at = strstr(text, "%g");
    if (at)
        snprintf(json, sizeof(json), "%.*s%g%s", (int)(at - text), text, strength,
                 at + 2);
    return json_loads(at ? json : text, JSON_DECODE_ANY, NULL);
}

json_t *hypothesis_apply(const struct hypothesis *h, const json_t *job,
                         const struct doctor_facts *f, double strength)
{
    json_t *tree = json_deep_copy(job);
    if (h->change)
        h->change(tree, f, strength);
    for (int i = 0; i < HYPOTHESIS_CHANGES && h->changes[i].pointer; i++)
        put(tree, h->changes[i].pointer, value_of(h->changes[i].value, strength));
    return tree;
}

static double kernels_of(const struct doctor_prediction *p)
{
    const double *parts = p->parts_s;
    return breakdown_passes_s(parts) + parts[CATEGORY_OPTIMIZER] +
           parts[CATEGORY_PIPELINE_BUBBLE];
}

/* What is added to each share's time. */
struct added {
    double compute_s, communication_s, waiting_s;
};

static struct added added_of(const struct hypothesis *h,
                             const struct doctor_prediction *p, double strength)
{
    double bubble_s = p->parts_s[CATEGORY_PIPELINE_BUBBLE],
           kernels_s = kernels_of(p) - bubble_s;
    switch (h->how) {
    case DOCTOR_BY_COMPUTE:
        return (struct added) { (strength - 1) * kernels_s, (strength - 1) * bubble_s,
                                0 };
    case DOCTOR_BY_OTHERS:
        return (struct added) { 0, (strength - 1) * (kernels_s + bubble_s), 0 };
    case DOCTOR_BY_WAIT:
        return (struct added) { 0, 0, strength * p->step_s };
    case DOCTOR_BY_SCENARIO:
    case DOCTOR_BY_RATE:
        break;
    }
    return (struct added) { 0 };
}

bool doctor_other_batch(const struct logs *l, const struct doctor_prediction *p)
{
    double near = l->batch_by_clock ? 0.1 : 1e-6;
    return l->global_batch > 0 &&
           fabs(l->global_batch - p->samples) > near * p->samples;
}

double hypothesis_step_s(const struct hypothesis *h, const struct doctor_prediction *p,
                         double strength)
{
    struct added a = added_of(h, p, strength);
    return p->step_s + a.compute_s + a.communication_s + a.waiting_s;
}

struct doctor_shares hypothesis_shares(const struct hypothesis *h,
                                       const struct doctor_prediction *p,
                                       double strength)
{
    struct added a = added_of(h, p, strength);
    struct doctor_shares s = doctor_shares_of(p);
    double all_s = hypothesis_step_s(h, p, strength);
    return (struct doctor_shares) {
        (s.compute * p->step_s + a.compute_s) / all_s,
        (s.communication * p->step_s + a.communication_s) / all_s,
        (s.waiting * p->step_s + a.waiting_s) / all_s,
    };
}
