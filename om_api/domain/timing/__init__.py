"""What moments cost: what a provider keeps of a prompt, and when another one is cheapest; and what is drawn, pauses above all."""
