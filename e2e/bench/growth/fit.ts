/** How a cost grows with the number of clusters. Pure. */

/** A cost of a fleet of so many clusters. */
export type Cost = readonly [clusters: number, cost: number];

/** cost = base + each * clusters. */
export interface LinearFit {
  readonly base: number;
  readonly each: number;
}

/** The least squares of all costs; at least two numbers of clusters. */
export function linearFit(costs: readonly Cost[]): LinearFit {
  const meanX = mean(costs.map(([x]) => x));
  const meanY = mean(costs.map(([, y]) => y));
  const spread = costs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const each = costs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  return { base: meanY - each * meanX, each };
}

/** The power of the number of clusters with which a cost grows: 1 is in proportion, 2 is quadratic. All costs are above zero. */
export function growthPower(costs: readonly Cost[]): number {
  return linearFit(costs.map(([x, y]) => [Math.log(x), Math.log(y)])).each;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
