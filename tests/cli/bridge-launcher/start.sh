#!/usr/bin/env bash
UV=(--no-project --with nemo-run)
exec uv run "${UV[@]}" python "$(dirname "$0")/setup_experiment.py" "$@"
