const WIDTH = 120;
const HEIGHT = 28;

/** Values over time as a line without axes; the largest of all lines reaches the top. Its size is that of its classes. */
export function Sparkline({
  label,
  lines,
  className,
}: {
  /** What it says, read aloud. */
  readonly label: string;
  /** The last one is drawn above the others. */
  readonly lines: readonly { readonly color: LineColor; readonly values: readonly number[] }[];
  readonly className: string;
}) {
  const most = Math.max(...lines.flatMap(({ values }) => values));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={`fill-none *:[vector-effect:non-scaling-stroke] ${className}`}
      strokeWidth="1.5"
      strokeLinejoin="round"
    >
      {lines.map(({ color, values }) => (
        <path key={color} d={linePath(values, most)} stroke={COLORS[color]} />
      ))}
    </svg>
  );
}

const COLORS = {
  delivered: 'var(--chart-delivered)',
  captured: 'var(--chart-captured)',
  failed: 'var(--chart-failed)',
  all: 'var(--accent)',
};

type LineColor = keyof typeof COLORS;

/** A line through values, the largest of which reaches the top of the picture; along its foot if all are 0. */
export function linePath(values: readonly number[], most: number): string {
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const points = values.map((value, place) => {
    const y = HEIGHT - 1 - (most === 0 ? 0 : (value / most) * (HEIGHT - 3));
    return `${round(place * step)} ${round(y)}`;
  });
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
