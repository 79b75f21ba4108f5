/opt/openmpi/bin/mpirun -np 8 --map-by ppr:4:node ${1:-inner.sh} --tensor-model-parallel-size 2
