# CUDA C to C++: kernel<<<a, b, c, d>>>(x) becomes cuda_launch(kernel, a, b, c, d)(x), and
# the GPU's nanosecond timer a function.
s/\([a-z_0-9]*\)<<</cuda_launch(\1, /
s/>>>(/)(/
s/asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(\([a-z_]*\)))/\1 = cuda_globaltimer()/
