# What starts in $( ) is started; the program is a recipe whose options have Megatron's names.
TP=2
job=$(srun -p own bash -c "python train.py --tensor_model_parallel_size ${TP} --global_batch_size 32" | grep Job)
echo "$job"
