#!/bin/bash
axolotl preprocess conf/sft.yml
axolotl train conf/sft.yml --micro-batch-size 4
