package org.sparkzorder.commit

import org.scalatest.tags.Slow

// The suites of the way by renames, over the one that decides by markers.

@Slow class CrashInPlaceSuite extends CrashSuite with InPlace
@Slow class RivalInPlaceSuite extends RivalSuite with InPlace
class LateInPlaceSuite extends LateSuite with InPlace
class SideBySideInPlaceSuite extends SideBySideSuite with InPlace
class AwayInPlaceSuite extends AwaySuite with InPlace
@Slow class MovedFoldersInPlaceSuite extends MovedFoldersSuite with InPlace
