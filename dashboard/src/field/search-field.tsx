/** A field for text that filters what is shown. */
export interface SearchFieldProps {
  /** For those who do not see it. */
  readonly name: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function SearchField({ name, placeholder, value, onChange }: SearchFieldProps) {
  return (
    <input
      type="search"
      placeholder={placeholder}
      aria-label={name}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
