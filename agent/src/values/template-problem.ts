/** What is wrong with one template: said without where it stands, which only its caller knows. */
export class TemplateProblem extends Error {
  override readonly name: string = "TemplateProblem";
}
