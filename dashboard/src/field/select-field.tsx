/** One of several values, or all of them. */
export interface SelectFieldProps {
  /** For those who do not see it. */
  readonly name: string;
  /** What the choice of all is called. */
  readonly all: string;
  readonly values: readonly string[];
  /** "": all. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A chosen value that there is no more can still be seen, and be left. */
export function SelectField({ name, all, values, value, onChange }: SelectFieldProps) {
  const offered = value === "" || values.includes(value) ? values : [...values, value];
  return (
    <select
      aria-label={name}
      className="select-field"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{all}</option>
      {offered.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
}
