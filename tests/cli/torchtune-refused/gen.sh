tune run generate --config ./generation.yaml prompt.user="Hello"
