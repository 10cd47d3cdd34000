"""A shop's week from Python: count, decide, sell, record, and explain an order."""

import tempfile
from datetime import date, timedelta

import numpy as np

from driftmdp.inventory import Costs, Count, Shop, Sold, explain_in_words

MEANS = {"tea": 3.0, "coffee": 6.0, "umbrellas": 1.0}


def main() -> None:
    """Run three items for five weeks, then print the last week's orders and an explanation."""
    costs = Costs(fixed=4, unit=0.5, lost_sale=4, holding=0.5)
    with tempfile.TemporaryDirectory() as folder, Shop.create(f"{folder}/shop.db", costs, capacity=20) as shop:
        rng, stock, day = np.random.default_rng(7), dict.fromkeys(MEANS, 0), date(2026, 10, 12)
        for n in range(35):
            decision = shop.decide([Count(sku, units) for sku, units in stock.items()], day)
            if n >= 28:
                print(day, ", ".join(f"{advice.sku} {advice.order}" for advice in decision.advice))
            sold = []
            for advice in decision.advice:
                on_sale = stock[advice.sku] + advice.order
                units = min(on_sale, int(rng.poisson(MEANS[advice.sku])))
                stock[advice.sku] = on_sale - units
                sold.append(Sold(advice.sku, day, units))
            shop.record(sold)
            day += timedelta(days=1)
        print(f"\n{explain_in_words(shop, 'coffee')}")


if __name__ == "__main__":
    main()
