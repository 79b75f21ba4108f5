python deepy.py train.py -d configs mamba.yml
