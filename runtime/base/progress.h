// PlacingProgress: how far a placing is, for those who watch it, as from what its Stop asks.
#pragma once

namespace placeto {

// Belongs to one placing: not shareable between threads.
struct PlacingProgress {
  double best_us = 0;      // the best placement so far that fits; 0: none yet
  double evaluations = 0;  // that the search which the budget is for has spent

  void note_best(double us) {
    if (best_us == 0 || us < best_us) best_us = us;
  }
};

}  // namespace placeto
