_base_ = "./base7b.py"
data = dict(seq_len=4096, micro_num=4, micro_bsz=1)
parallel = dict(zero1=dict(size=-1), tensor=dict(size=2, mode="msp"), pipeline=dict(size=1, interleaved_overlap=True), weight=dict(size=1, overlap=True, memory_pool=True))
