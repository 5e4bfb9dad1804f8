"""What a segment costs: price lists by destination and category. Start with `price_table.py`.

price_table  finds the price of a phone in one version of a list
book         knows which version is valid for an account at a moment
sheet        reads the CSV files of which versions are made
lists        lists, their versions, and the accounts that have them
compare      says what a version changes
costs        knows what carriers cost at a moment
margin       reports what messages brought and cost
"""
