@_exported import Tombolo
