"""The neural systems. Every parameter has a leading dimension M: one model and a thousand are the same program.

Letters in shapes: M models, B items, N lemma positions, T actions, Y written and K deleted characters, V symbols,
A actions, P features, E embedding, H hidden, G gates (4H, or 3H for the coupled cell).
"""
