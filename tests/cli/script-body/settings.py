import os


def setting(name, default):
    value = os.getenv(name)
    if value is None:
        return default
    return int(value)


def add_options(parser):
    parser.add_argument("--accumulate", type=int, default=2)
