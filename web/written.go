package web

import "pgtaskd/work"

// written are the metrics of a target as they were written last. The page's lock guards it.
type written struct {
	figures work.Figures
	begun   bool
	values  []any
	texts   [][]byte
}

// update writes the metrics that have changed.
func (w *written) update(name string, f work.Figures) error {
	if w.begun && w.figures == f {
		return nil
	}
	if w.values == nil {
		w.values, w.texts = make([]any, len(kinds)), make([][]byte, len(kinds))
	}
	for i := range kinds {
		value := kinds[i].of(&f)
		if w.begun && value == w.values[i] {
			continue
		}
		text, err := kinds[i].text(name, value)
		if err != nil {
			return err
		}
		w.values[i], w.texts[i] = value, text
	}
	w.figures, w.begun = f, true
	return nil
}
