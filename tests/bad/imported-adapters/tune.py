from common_tuner import Tuner


class OwnTuner(Tuner):
    def load(self):
        return "data.jsonl"


if __name__ == "__main__":
    OwnTuner().run()
