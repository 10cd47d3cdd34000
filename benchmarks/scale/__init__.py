"""What many machines would need: costs measured here, and a simulation of a cluster with these costs."""
