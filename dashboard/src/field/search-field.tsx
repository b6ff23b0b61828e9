/** A field for text that filters what is shown. */
export interface SearchFieldProps {
  /** For those who do not see it. */
  readonly name: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What it has cannot be used. */
  readonly isInvalid?: boolean;
}

export function SearchField(props: SearchFieldProps) {
  const { name, placeholder, value, onChange, isInvalid = false } = props;
  return (
    <input
      type="search"
      placeholder={placeholder}
      aria-label={name}
      aria-invalid={isInvalid}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
