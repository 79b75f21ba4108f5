import json


class BertConfig(object):
    @classmethod
    def from_json_file(cls, path):
        with open(path) as f:
            return cls(**json.load(f))


class BertForPreTraining(object):
    def __init__(self, config):
        self.config = config
