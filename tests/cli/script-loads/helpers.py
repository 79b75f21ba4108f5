from pathlib import Path
import yaml


def load_settings(name: str, folder="settings"):
    with (Path(folder) / f"{name}.yaml").open("r", encoding="utf-8") as f:
        return yaml.safe_load(f)
