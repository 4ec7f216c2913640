"""The first hour of somebody who has never seen reviewbot."""
