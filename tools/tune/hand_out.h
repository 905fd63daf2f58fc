// What is written in the end. Private to this folder.
#pragma once

#include "tools/export/new_directory.h"
#include "tools/tune/contenders.h"
#include "tools/tune/profile_model.h"

namespace placeto {

struct HandOut {
  const ProfiledModel& model;
  const TopologySpec& machine;  // as measured stages corrected it
  const TuneResult& result;
  const Runnable& winner;
  const Runnable& measured;  // the placed one to predict by: the winner, or one device like it
};

// Writes the winner and what it is predicted with (tune.h) into `target`, and commits it.
// `scratch`: a folder for files. Fails as exporting does, and as writing.
Status hand_out(const HandOut& what, const TuneOptions& options, const std::string& scratch,
                NewDirectory& target);

}  // namespace placeto
