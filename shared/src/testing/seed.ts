/** The seed of random test input: the same in every run of `npm test`, which sets it. */
export const seed = Number(process.env["FLOTILLA_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
