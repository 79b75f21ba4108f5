if [[ $DEBUG = true ]]; then
    NAME=$NAME-debug
fi
bash submit.sh --nodes 2 --batch 4 $*
