import importlib

_places = {
    "models": ["plain", "adapted"],
}


def __getattr__(name):
    if name == "options":
        from .settings import options

        return options
    for module, names in _places.items():
        if name in names:
            return getattr(importlib.import_module("." + module, __name__), name)
    raise AttributeError(name)
