from .network import Network
