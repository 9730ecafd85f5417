import { useCall } from '../../../queries.ts';

/** Requests a minute of a key that has no limit of its own; 0: any number. Null while that is not known. */
export function useUsualRate(): number | null {
  const settings = useCall('settings', {}, { topics: ['settings'] });
  const value = settings.data?.find(({ key }) => key === 'api.rate_limit_per_key')?.value;
  return typeof value === 'number' ? value : null;
}
