// Filled by the first parts of this layer.
