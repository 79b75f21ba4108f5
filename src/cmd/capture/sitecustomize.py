"""Replaces the sagemaker package: what a script makes of it is written down, and
nothing is started. SMSIM_CAPTURE is the folder to write in. A Python that was started by
its path asks the recorder, too, whether what it is to run trains."""
import atexit
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

PACKAGES = ("sagemaker", "sagemaker_core", "boto3", "botocore", "smdebug")
KEYS = ("instance_type", "instance_count", "distribution", "compute", "training_image")
made = []


def ask():
    words = sys.orig_argv
    program = os.path.basename(words[1]) if len(words) > 1 else ""
    starter = os.path.join(os.environ["SMSIM_CAPTURE"], program)
    if program and not program.endswith(".py") and os.path.islink(starter):
        os.execv(starter, [starter] + words[2:])
    recorder = os.path.join(os.environ["SMSIM_CAPTURE"], "python3")
    os.environ["SMSIM_PYTHON"] = sys.executable
    os.execv(recorder, [recorder] + words[1:])


if os.environ.pop("SMSIM_REAL", None) is None and sys.executable:
    if hasattr(sys, "orig_argv"):  # from 3.10 on
        ask()


class Unknown:
    """What a call yields that would have to be asked of AWS."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        return Unknown(self._name + "." + key)

    def __setattr__(self, key, value):
        pass

    def __call__(self, *args, **kwargs):
        return Unknown(self._name + "()")

    def __getitem__(self, key):
        return Unknown(self._name + "[]")

    def __iter__(self):
        return iter((Unknown(self._name + "[]"), Unknown(self._name + "[]")))

    def __add__(self, other):
        return Unknown(self._name)

    __radd__ = __truediv__ = __rtruediv__ = __mod__ = __add__

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def __str__(self):
        return "unknown"

    __fspath__ = __format__ = lambda self, *args: "unknown"


class Made:
    """An object of one of the package's classes, with the arguments that made it."""

    def __init__(self, name, args, kwargs):
        self.__dict__.update(_name=name, _args=args, _kwargs=kwargs)
        if any(key in kwargs for key in KEYS):
            made.append(self)

    def set_hyperparameters(self, **kwargs):
        self._kwargs.setdefault("hyperparameters", {}).update(kwargs)

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        if key in self._kwargs:
            return self._kwargs[key]
        return Unknown(self._name + "." + key)

    def __setattr__(self, key, value):
        self._kwargs[key] = value


class Module(type(sys)):
    """A module of these packages: classes are recorded, the rest is not known."""

    __path__ = []

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        if not key[:1].isupper() or key in ("Session", "ParameterString"):
            return Unknown(self.__name__ + "." + key)
        return lambda *args, **kwargs: Made(key, args, kwargs)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in PACKAGES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


class Torch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Here are as many GPUs as a node of the job has, with or without the package."""

    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            self.exec_module(module)

        spec.loader.exec_module = exec_module
        return spec

    def create_module(self, spec):
        module = Module(spec.name)
        module.cuda = Unknown("torch.cuda")
        return module

    def exec_module(self, module):
        devices = os.environ.get("CUDA_VISIBLE_DEVICES")
        number = len(devices.split(",")) if devices else int(os.environ["SMSIM_GPUS"])
        module.cuda.__dict__["device_count"] = lambda: number
        module.cuda.__dict__["is_available"] = lambda: True


def text_of(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (list, tuple, set)):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    if isinstance(value, dict):
        items = (text_of(str(k)) + ": " + text_of(v) for k, v in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, Made):
        return call_of(value)
    return "unknown()"


def call_of(value):
    words = [text_of(v) for v in value._args]
    for key, v in value._kwargs.items():
        if key == "source_dir" and isinstance(v, str) and os.path.isdir(v):
            v = os.path.abspath(v)
        words.append(key + "=" + text_of(v))
    return value._name + "(" + ", ".join(words) + ")"


def write():
    inner = {id(v) for m in made for v in m._kwargs.values() if isinstance(v, Made)}
    with open(os.path.join(os.environ["SMSIM_CAPTURE"], "estimators.py"), "a") as out:
        for i, m in enumerate(made):
            if id(m) not in inner:
                out.write("estimator_%d = %s\n" % (i + 1, call_of(m)))


sys.meta_path[:0] = [Finder(), Torch()]
atexit.register(write)
