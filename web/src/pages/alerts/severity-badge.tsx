import { Badge } from '../../parts/badge.tsx';
import { SEVERITY_NAMES, SEVERITY_TONES, type Severity } from './words.ts';

/** How bad an alert is. */
export function SeverityBadge({ severity }: { readonly severity: Severity }) {
  return <Badge tone={SEVERITY_TONES[severity]}>{SEVERITY_NAMES[severity]}</Badge>;
}
