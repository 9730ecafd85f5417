/** All deliberate bugs, each of which some suite must find. */
import { BORDER } from './border.ts';
import { DELIVERING } from './delivering.ts';
import { LEASING } from './leasing.ts';
import type { Mutant } from './mutant.ts';
import { SAFEKEEPING } from './safekeeping.ts';

/** In the order in which they are tried. */
export const MUTANTS: readonly Mutant[] = [...SAFEKEEPING, ...LEASING, ...DELIVERING, ...BORDER];
