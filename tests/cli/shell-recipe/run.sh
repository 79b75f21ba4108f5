#!/bin/bash
set -e
python recipe.py --size 70b --nodes 8
