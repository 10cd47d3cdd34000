"""What many machines would need: constants measured here, and a simulation of a cluster made of them."""
