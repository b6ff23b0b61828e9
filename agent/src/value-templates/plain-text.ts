/**
 * Whether a text is written without quotes in YAML, as sigs.k8s.io/yaml writes it. In Fleet templates are rendered in such
 * a YAML document, which is then read again: so what comes of a text without quotes is read as YAML, and `${ … }` may give
 * a number or a map; what comes of any other stays a text. Pure.
 */

/** For a text that is no number, boolean or null itself, as none with a template in it is. */
export function isWrittenPlain(text: string): boolean {
  return (
    // Line breaks, tabs, and what is not printed.
    !unprintable.test(text) &&
    text.trim() === text &&
    text !== "" &&
    !/^(---|\.\.\.)/.test(text) &&
    !/^[#,[\]{}&*!|>'"%@`]/.test(text) &&
    !/^[?:-](\s|$)/.test(text) &&
    // The beginning of a comment, and the end of a key.
    !/\s#|:(\s|$)/.test(text)
  );
}

const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\0-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/u;
