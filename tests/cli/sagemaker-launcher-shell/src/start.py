import os, json, subprocess
if __name__ == "__main__":
    hosts = json.loads(os.environ["SM_RESOURCE_CONFIG"])["hosts"]
    os.environ["NODE_INDEX"] = "0"
    os.system("chmod +x ./train.sh")
    os.system("/bin/bash -c ./train.sh")
