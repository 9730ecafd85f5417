import { oneOf, readSearch } from '../../search.ts';

/** The search of `/`: how far back the chart goes. */
export const search = readSearch({ range: oneOf('hour', 'day', 'week', 'month') });
