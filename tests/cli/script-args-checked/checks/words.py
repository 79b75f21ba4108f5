import os
from datetime import datetime


def check_args(args):
    if args.save_dir is None:
        args.save_dir = f"ck/{args.config.split('/')[-1]}-{datetime.now().strftime('%Y')}"
    if args.total is None:
        args.accum = args.accum or 1
        args.total = args.batch_size * args.accum
    return args
