import { useField } from '../../config/fields/form.ts';
import { ComboField } from '../../parts/controls/combo-field.tsx';

/** A destination in a list. */
export const Fallback = ({
  path,
  ...field
}: Omit<Parameters<typeof ComboField>[0], 'unlabelled' | 'placeholder'> & { readonly path: string }) => (
  <ComboField {...field} {...useField(path)} unlabelled placeholder="provider,model" />
);
