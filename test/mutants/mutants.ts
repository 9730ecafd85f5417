/** All deliberate bugs, each of which some suite must find. */
import { AFTERMATH } from './aftermath.ts';
import { ALERTING } from './alerting.ts';
import { BORDER } from './border.ts';
import { CERTIFYING } from './certifying.ts';
import { DELIVERING } from './delivering.ts';
import { DOORS } from './doors.ts';
import { LEASING } from './leasing.ts';
import type { Mutant } from './mutant.ts';
import { PEOPLE } from './people.ts';
import { RUNNING } from './running.ts';
import { SAFEKEEPING } from './safekeeping.ts';
import { TELLING } from './telling.ts';

/** In the order in which they are tried. */
export const MUTANTS: readonly Mutant[] = [
  ...SAFEKEEPING,
  ...LEASING,
  ...DELIVERING,
  ...BORDER,
  ...AFTERMATH,
  ...TELLING,
  ...ALERTING,
  ...DOORS,
  ...RUNNING,
  ...CERTIFYING,
  ...PEOPLE,
];
