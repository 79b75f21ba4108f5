import os

JOB_NAME = "20b"
model_type = "INTERNLM_MoE"
SEQ_LEN = 4096
HIDDEN = 6144
LAYERS = 48
RATIO = 8 / 3
SAVE = os.environ.get("SAVE", "local:ckpts")

ckpt = dict(enable_save_ckpt=True, save_ckpt_folder=SAVE, checkpoint_every=500)

data = dict(
    seq_len=SEQ_LEN,
    micro_num=16,
    micro_bsz=1,
    total_steps=2000,
    rampup_batch_size="",
    pack_sample_into_one=False,
)

hybrid_zero_optimizer = dict(
    overlap_sync_grad=True,
    overlap_sync_param=True,
    reduce_bucket_size=256 * 1024 * 1024,
    clip_grad_norm=1.0,
)
adam = dict(lr=3e-4, weight_decay=0.01)
lr_scheduler = dict(total_steps=data["total_steps"])

model = dict(
    checkpoint=0.5,
    num_attention_heads=48,
    num_kv_attention_heads=8,
    vocab_size=92544,
    hidden_size=HIDDEN,
    num_layers=LAYERS,
    mlp_ratio=RATIO,
    no_bias=True,
    dtype="torch.bfloat16",
    norm_type="rmsnorm",
    num_chunks=1,
    drop_rate=0.1,
)

parallel = dict(
    zero1=dict(size=-1),
    tensor=dict(size=4, mode="isp"),
    pipeline=dict(size=1, interleaved_overlap=True),
    weight=dict(size=1, overlap=True),
)
