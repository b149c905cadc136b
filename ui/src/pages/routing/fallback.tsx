import { useField } from '../../config/form.ts';
import { ComboField } from '../../parts/combo-field.tsx';

/** A destination in a list. */
export const Fallback = ({
  path,
  ...field
}: Omit<Parameters<typeof ComboField>[0], 'unlabelled' | 'placeholder'> & { readonly path: string }) => (
  <ComboField {...field} {...useField(path)} unlabelled placeholder="provider,model" />
);
