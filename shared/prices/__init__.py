"""What a segment costs: price lists by destination and category. Start with `price_table.py`.

price_table  finds the price of a phone in one version of a list
book         knows which version is valid for an account, or a carrier's costs, at a moment
sheet        reads the CSV files of which versions are made
lists        lists, their versions, and the accounts that have them and are told of changes
drafts       makes a draft of a version from a sheet
compare      says what a version changes
margin       reports what messages brought and cost
kept_unit    keeps the currency of amounts
"""
