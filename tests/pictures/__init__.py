"""The pictures of ``docs/pictures``: what reviewbot prints and writes, photographed. ``python -m tests.pictures`` makes them."""
