/** What is wrong with a text as YAML, and where; whoever knows the file makes an AppError of it. */
export class DecodeProblem extends Error {
  /** Counted in characters of the text that was decoded. */
  readonly offset: number;

  constructor(
    where: number | { readonly range?: readonly number[] | null | undefined },
    why: string,
  ) {
    super(why);
    this.offset = typeof where === "number" ? where : (where.range?.[0] ?? 0);
  }
}
