JOB_NAME = "7b_train"
model_type = "INTERNLM2_PUBLIC"
SEQ_LEN = 2048
HIDDEN_SIZE = 4096
NUM_ATTENTION_HEAD = 32
MLP_RATIO = 3.5
NUM_LAYER = 32
VOCAB_SIZE = 92544
data = dict(seq_len=SEQ_LEN, micro_num=4, micro_bsz=2, total_steps=50)
model = dict(checkpoint=False, num_attention_heads=NUM_ATTENTION_HEAD, embed_split_hidden=True, vocab_size=VOCAB_SIZE, embed_grad_scale=1, parallel_output=True, hidden_size=HIDDEN_SIZE, num_layers=NUM_LAYER, mlp_ratio=MLP_RATIO, apply_post_layer_norm=False, dtype="torch.bfloat16", norm_type="rmsnorm", layer_norm_epsilon=1e-5, use_flash_attn=True, num_kv_attention_heads=8, no_bias=True)
parallel = dict(zero1=dict(size=-1), tensor=dict(size=1, mode="mtp"), pipeline=dict(size=1, interleaved_overlap=True), weight=dict(size=1, overlap=True))
