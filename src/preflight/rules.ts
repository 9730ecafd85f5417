import { CONTENT_RULES } from './content-rules.ts';
import { HEADER_RULES } from './header-rules.ts';
import { IMAGE_RULES } from './image-rules.ts';
import { LINK_RULES } from './link-rules.ts';
import type { Rule } from './rule.ts';
import { TEXT_RULES } from './text-rules.ts';
import { WAY_RULES } from './way-rules.ts';

/** Every rule, in the order of the pages. (A file of its own: `rule.ts` would import what imports it.) */
export const RULES: readonly Rule[] = [
  ...WAY_RULES,
  ...HEADER_RULES,
  ...CONTENT_RULES,
  ...TEXT_RULES,
  ...IMAGE_RULES,
  ...LINK_RULES,
];
