# A model's code of its own, next to the program.
import json


class BertConfig(object):
    def __init__(self, vocab_size_or_config_json_file, hidden_size=768, num_hidden_layers=12):
        self.vocab_size = vocab_size_or_config_json_file
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers

    @classmethod
    def from_dict(cls, json_object):
        config = BertConfig(vocab_size_or_config_json_file=-1)
        for key, value in json_object.items():
            config.__dict__[key] = value
        return config

    @classmethod
    def from_json_file(cls, json_file):
        with open(json_file, "r") as reader:
            return cls.from_dict(json.loads(reader.read()))


class BertForQuestionAnswering(object):
    def __init__(self, config):
        self.config = config

    @classmethod
    def from_pretrained(cls, path):
        config = BertConfig.from_json_file(path)
        return cls(config)
