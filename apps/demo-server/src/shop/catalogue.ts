/** What the shop sells. A fixed list: the demo is about the calls, not about the goods. */

export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly category: string;
  /** Whole euros. */
  readonly price: number;
  readonly stock: number;
}

const CATEGORIES: Readonly<Record<string, readonly (readonly [name: string, price: number, stock: number])[]>> = {
  lamps: [
    ['Desk lamp', 49, 120],
    ['Floor lamp', 129, 34],
    ['Reading lamp', 39, 87],
    ['Workshop lamp', 89, 41],
    ['Lantern', 25, 210],
    ['Ceiling lamp', 159, 18],
  ],
  chairs: [
    ['Stool', 35, 150],
    ['Office chair', 279, 22],
    ['Folding chair', 29, 310],
    ['Armchair', 449, 9],
    ['Rocking chair', 319, 6],
    ['Bench', 139, 27],
  ],
  desks: [
    ['Standing desk', 699, 12],
    ['Writing desk', 349, 15],
    ['Corner desk', 429, 8],
    ['Kids desk', 119, 40],
    ['Workbench', 529, 7],
    ['Laptop table', 59, 96],
  ],
  storage: [
    ['Shelf', 79, 64],
    ['Drawer unit', 149, 33],
    ['Filing cabinet', 199, 21],
    ['Coat rack', 45, 58],
    ['Toolbox', 65, 77],
    ['Bookcase', 229, 14],
  ],
};

export const CATALOGUE: readonly Product[] = Object.entries(CATEGORIES).flatMap(([category, goods]) =>
  goods.map(([name, price, stock]) => ({ sku: skuOf(name), name, category, price, stock })),
);

export const CATEGORY_NAMES: readonly string[] = Object.keys(CATEGORIES);

export function productBySku(sku: string): Product | undefined {
  return CATALOGUE.find((product) => product.sku === sku);
}

function skuOf(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}
